import {
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  sql,
} from 'kysely'
import type { Tables } from './tables.ts'

/** Stands in a query for a value that is known when it runs. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Gives the place of a value in a query. */
export type Parameters<Values> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Values[Name]>

/**
 * How a database in this process answers a query without waiting for it. `within` says whether the
 * query is part of the open transaction; undefined when the query has to wait for its turn.
 */
export type RunAtOnce = <Row>(
  query: CompiledQuery<Row>,
  within: boolean,
) => QueryResult<Row> | undefined

const atOnce = new WeakMap<DialectAdapter, RunAtOnce>()

/** Says that a database can do so: its prepared queries then do. */
export function answersAtOnce(db: Kysely<Tables>, run: RunAtOnce): void {
  atOnce.set(db.getExecutor().adapter, run)
}

/**
 * A query of every turn: built and compiled once for each database, since that takes several times
 * as long as to run it. `null` never equals anything: it may be set, not compared with.
 */
export function prepared<Values extends object, Row>(
  build: (db: Kysely<Tables>, parameter: Parameters<Values>) => Compilable<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>> {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>()

  function compile(db: Kysely<Tables>): CompiledQuery<Row> {
    const { adapter } = db.getExecutor()
    const known = compiled.get(adapter)
    if (known) return known
    const query = build(db, (name) => sql`${new Parameter(name)}`).compile()
    compiled.set(adapter, query)
    return query
  }

  return async (db, values) => {
    const query = compile(db)
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Parameter ? Reflect.get(values, parameter.name) : parameter,
    )
    const ready = { ...query, parameters }
    const run = atOnce.get(db.getExecutor().adapter)
    return run?.(ready, db.isTransaction) ?? db.executeQuery(ready)
  }
}

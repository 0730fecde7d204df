import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'

interface Log {
  info(message: string): void
  warn(about: object, message: string): void
}

/** The exporter, which says once that it fails, and once that it works again. */
export function toldExporter(exporter: SpanExporter) {
  let log: Log | undefined
  let failing = false

  function tell({ code, error }: ExportResult): void {
    if (failing === (code === ExportResultCode.FAILED)) return
    failing = !failing
    if (failing) log?.warn({ err: error }, 'traces cannot be sent: they are dropped')
    else log?.info('traces are sent again')
  }

  return {
    tellOf(listener: Log): void {
      log = listener
    },
    export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
      exporter.export(spans, (result) => {
        tell(result)
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}

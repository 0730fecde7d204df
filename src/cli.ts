#!/usr/bin/env node
import './node-version.ts'
import { runProgram } from './cli/program.ts'
import { createTerminal } from './cli/terminal.ts'

// The reader may leave, as `head` does.
process.stdout.on('error', () => process.exit())
const terminal = createTerminal(process, process.env)
process.exitCode = await runProgram(process.argv, process.env, terminal)

#!/usr/bin/env node
import './node-version.ts'
import { runProgram } from './cli/program.ts'
import { createTerminal } from './cli/terminal.ts'

// The reader may leave, as `head` does.
process.stdout.on('error', () => process.exit())
process.exitCode = await runProgram(process.argv, process.env, createTerminal(process))

// The second process, for Nodes too old to replace themselves: same terminal, same signals, same exit code.
import { spawn } from 'node:child_process'
import process from 'node:process'
import { PARENT_FD } from './parent.js'

const PIPE = 3
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']

export const runChild = (program, args) => {
  const child = spawn(program, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [PARENT_FD]: String(PIPE) },
  })
  const forward = (signal) => {
    // A terminal sends Ctrl-C to both processes by itself; twice would read as impatience.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, forward)
  child.on('error', (error) => {
    process.stderr.write(`cannot run ${program}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    for (const each of SIGNALS) process.off(each, forward)
    if (signal === null) process.exit(code ?? 1)
    process.kill(process.pid, signal)
  })
}

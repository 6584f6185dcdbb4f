// A process that is killed cannot take its child along, so the child watches. What is recorded survives a kill at any
// moment, therefore the child simply stops at once.
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import process from 'node:process'

/** Names the file descriptor whose end means that the parent is gone. */
export const PARENT_FD = 'ACCELERANDO_PARENT_FD'
const LOOK_EVERY_MS = 200

const stop = () => process.kill(process.pid, 'SIGKILL')

const watchPipe = (fd) => {
  const pipe = new Socket({ fd, readable: true, writable: false })
  pipe.on('close', stop).on('error', stop).resume().unref()
}

/** The shell that npm runs a script in may stay between npm and the script; then npm is the shell's parent. */
const aboveShell = (pid) => {
  try {
    const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return /^(sh|dash|bash|ash|busybox)$/.test(name) ? rest.split(' ')[1] : ''
  } catch {
    return '' // No /proc here: such systems' shells give way to the script.
  }
}

const lineage = () => `${process.ppid} ${aboveShell(process.ppid)}`

/** npm stays above the program it started and gives it nothing to watch but the numbers of processes. */
const watchNpm = () => {
  const atFirst = lineage()
  setInterval(() => lineage() !== atFirst && stop(), LOOK_EVERY_MS).unref()
}

export const followParent = () => {
  const fd = Number(process.env[PARENT_FD])
  // Not for the programs this one starts, and no setting of ours.
  delete process.env[PARENT_FD]
  if (Number.isInteger(fd) && fd > 2) watchPipe(fd)
  else if (['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '')) watchNpm()
}

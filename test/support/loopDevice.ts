/** A block device of its own for a test, from a file; it needs root, and a kernel that has loop devices. */
import { execFileSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import type { Part } from './needs.ts'

const losetup = (...args: readonly string[]): string =>
  execFileSync('losetup', args, { encoding: 'utf8', stdio: 'pipe' }).trim()

export const loopDevice = (file: string): { readonly part: Part; readonly detach: (device: string) => void } => ({
  part: {
    name: 'a loop device',
    installable: false,
    find: () => {
      writeFileSync(file, '')
      truncateSync(file, 16 * 1024 * 1024)
      try {
        return { at: losetup('--find', '--show', file) }
      } catch {
        return { lacking: 'losetup makes no block device of a file here (that needs root)' }
      }
    },
  },
  detach: (device) => void losetup('--detach', device),
})

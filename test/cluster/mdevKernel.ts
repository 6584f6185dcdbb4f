/**
 * A process in the place of the kernel: makes and removes the mediated devices of one type on a tree of plain files.
 * `node mdevKernel.ts FOLDER`, where the folder is the one of the type (`mdev_supported_types/nvidia-223`). It prints a
 * line for each thing that it does, and ends with its standard input.
 */
import { execFileSync } from 'node:child_process'
import {
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const [, , folder = ''] = process.argv
const create = join(folder, 'create')
const devices = join(folder, 'devices')
const MOST = 8

// a pipe keeps every text that is written to it, however quickly one follows the other
rmSync(create, { force: true })
execFileSync('mkfifo', [create])
const asked = openSync(create, constants.O_RDWR | constants.O_NONBLOCK)
const UUID_LENGTH = 36
const buffer = Buffer.alloc(64 * UUID_LENGTH)
const wanted = (): readonly string[] => {
  try {
    const text = buffer.toString('utf8', 0, readSync(asked, buffer))
    return text.match(/[\da-f-]{36}/g) ?? []
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return []
    throw error
  }
}

/** On the same file system, and in a folder that lists no types. */
const next = join(folder, '../../available_instances.next')
/** Null: the file still says what it said before the restart. */
let left: number | null = null
/** Replaced as a whole: who reads an attribute of the kernel never finds it half written. */
const count = (): void => {
  const now = MOST - readdirSync(devices).length
  if (now === left) return
  writeFileSync(next, `${now}\n`)
  renameSync(next, join(folder, 'available_instances'))
  left = now
}
const turn = (): void => {
  for (const uuid of wanted())
    if (!existsSync(join(devices, uuid))) {
      mkdirSync(join(devices, uuid))
      writeFileSync(join(devices, uuid, 'remove'), '')
      console.log(`made ${uuid}`)
    }
  for (const made of readdirSync(devices))
    if (statSync(join(devices, made, 'remove')).size > 0) {
      rmSync(join(devices, made), { recursive: true })
      console.log(`removed ${made}`)
    }
  count()
}
setInterval(turn, 10)
process.stdin.resume().once('end', () => process.exit())
console.log('ready')

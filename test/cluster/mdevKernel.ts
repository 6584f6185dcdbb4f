/**
 * A process in the place of the kernel: makes and removes the mediated devices of one type on a tree of plain files. `node mdevKernel.ts FOLDER`, where
 * the folder is the one of the type (`mdev_supported_types/nvidia-223`). It prints a line for each thing that it does.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , folder = ''] = process.argv
const create = join(folder, 'create')
const devices = join(folder, 'devices')
const MOST = 8

const count = (): void => writeFileSync(join(folder, 'available_instances'), `${MOST - readdirSync(devices).length}\n`)
const turn = (): void => {
  const uuid = readFileSync(create, 'utf8').trim()
  if (uuid !== '') {
    writeFileSync(create, '')
    if (!existsSync(join(devices, uuid))) {
      mkdirSync(join(devices, uuid))
      writeFileSync(join(devices, uuid, 'remove'), '')
      console.log(`made ${uuid}`)
    }
  }
  for (const made of readdirSync(devices))
    if (statSync(join(devices, made, 'remove')).size > 0) {
      rmSync(join(devices, made), { recursive: true })
      console.log(`removed ${made}`)
    }
  count()
}
setInterval(turn, 10)
console.log('ready')

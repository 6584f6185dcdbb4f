/** The folder of a host program: it belongs to one host, and to one program at a time. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openHostFolder } from '../../src/cli/programs/hostFolder.ts'
import { silent } from '../../src/log.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('host-folder')
afterAll(folder.remove)

test('remembers whose it is, and refuses another host', async () => {
  const path = join(folder.path, 'one')
  ;(await openHostFolder(path, 'compute-1', silent)).release()
  expect(readdirSync(path).filter((name) => name.endsWith('.tmp'))).toEqual([])
  ;(await openHostFolder(path, 'compute-1', silent)).release()
  await expect(openHostFolder(path, 'compute-2', silent)).rejects.toThrow(
    `data: ${path} belongs to the host compute-1: take another folder for compute-2, or --name compute-1`,
  )
  // a refusal keeps nobody out
  ;(await openHostFolder(path, 'compute-1', silent)).release()
})

test('is for one program at a time', async () => {
  const path = join(folder.path, 'two')
  const lock = await openHostFolder(path, 'compute-1', silent)
  await expect(openHostFolder(path, 'compute-1', silent)).rejects.toThrow('data: ')
  lock.release()
  ;(await openHostFolder(path, 'compute-1', silent)).release()
})

test('its file has the name and nothing else, and one that cannot be read is refused without a change', async () => {
  const path = join(folder.path, 'three')
  ;(await openHostFolder(path, 'compute-1', silent)).release()
  const file = join(path, 'host.json')
  expect(readFileSync(file, 'utf8')).toBe('{"name":"compute-1"}\n')
  for (const text of ['no JSON', '{}', '{"name": 1}', '']) {
    writeFileSync(file, text)
    await expect(openHostFolder(path, 'compute-1', silent)).rejects.toThrow(
      `data: ${file} does not say whose folder this is: `,
    )
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
  writeFileSync(file, '{"name": "compute-1"}')
  ;(await openHostFolder(path, 'compute-1', silent)).release()
})

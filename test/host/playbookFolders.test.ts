/** The folders of playbooks: what counts as their content, and the limits within which they are read. */
import { describe, expect, test } from 'vitest'
import { foldersIn, machineStart } from '../../src/host/playbookFolders.ts'
import { recordedHostIo, type Tree } from '../drivers/recordedHostIo.ts'

const MIB = 1024 * 1024
const folders = async (books: Tree, drivers: readonly string[] = ['a'], dir = '/books') =>
  Object.fromEntries(await foldersIn(recordedHostIo({ books }), dir, drivers))
const folderOf = async (a: Tree) => (await folders({ a }))['a']
const digestOf = async (a: Tree): Promise<string> => {
  const folder = await folderOf(a)
  if (folder === undefined || typeof folder === 'string') throw new Error(`${folder}`)
  return folder.digest
}

test('each driver with a folder has its playbooks; others have none', async () => {
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
  const found = await folders(
    {
      a: { 'setup.yml': '1', 'teardown.yml': '2', files: { conf: '3' } },
      b: { 'teardown.yml': '2' },
      c: { below: { 'setup.yml': '1' }, 'setup.yaml': '1' },
      d: 'a file',
      e: {},
      z: { 'setup.yml': '1' },
    },
    ['a', 'b', 'c', 'd', 'e', 'f'],
  )
  expect(found).toEqual({
    a: { digest, has: ['setup', 'teardown'] },
    b: { digest, has: ['teardown'] },
    c: { digest, has: [] },
    d: { digest, has: [] },
    e: { digest, has: [] },
  })
})

test('the digest is of the names and the bytes of all files, in whatever folder', async () => {
  const base = { 'setup.yml': '1', files: { conf: '2' } }
  const first = await digestOf(base)
  expect(await digestOf({ files: { conf: '2' }, 'setup.yml': '1' })).toBe(first)
  const others: readonly Tree[] = [
    { ...base, 'setup.yml': '2' },
    { ...base, files: { conf: '3' } },
    { ...base, files: { other: '2' } },
    { ...base, more: '' },
    { 'setup.yml': '1', conf: '2' },
    { 'setup.yml': '1' },
    {},
  ]
  const all = [first, ...(await Promise.all(others.map(digestOf)))]
  expect(new Set(all).size).toBe(all.length)
})

test('hidden files, and those that Ansible leaves for another try, do not count', async () => {
  const base = { 'setup.yml': '1' }
  const first = await digestOf(base)
  const same: readonly Tree[] = [
    { ...base, '.git': { HEAD: 'x' } },
    { ...base, 'setup.retry': 'x' },
    { ...base, '.setup.yml.swp': 'x' },
  ]
  for (const one of same) expect(await digestOf(one)).toBe(first)
  for (const name of ['a.git', 'setup.retry.yml', 'retry'])
    expect(await digestOf({ ...base, [name]: 'x' })).not.toBe(first)
})

describe('a folder is read', () => {
  const many = (count: number): Tree => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, '']))
  const deep = (depth: number): Tree => (depth === 0 ? { file: '' } : { d: deep(depth - 1) })
  const isRead = async (a: Tree) => typeof (await folderOf(a)) === 'object' || folderOf(a)
  test('with up to a thousand files', async () => {
    expect(await isRead(many(1000))).toBe(true)
    expect(await isRead({ ...many(1000), 'z.retry': '' })).toBe(true)
    expect(await isRead(many(1001))).toMatch(/^\/books\/a\/f\d+: a driver's folder must not hold more than 1000 files$/)
  })
  test('with folders up to ten deep', async () => {
    expect(await isRead(deep(9))).toBe(true)
    expect(await isRead(deep(10))).toBe(`/books/a${'/d'.repeat(10)}: folders must not be deeper than 10`)
  })
  test('with files of up to 4 MiB', async () => {
    expect(await isRead({ big: 'x'.repeat(4 * MIB) })).toBe(true)
    expect(await isRead({ big: 'x'.repeat(4 * MIB + 1) })).toBe('/books/a/big: must not be longer than 4194304 bytes')
  })
  test('or its driver gets the reason, and other drivers are not concerned', async () =>
    expect(await folders({ a: { 'setup.yml': { '->': 'gone' } }, b: { 'setup.yml': '' } }, ['a', 'b'])).toEqual({
      a: 'ENOENT: /books/a/setup.yml',
      b: { digest: expect.any(String), has: ['setup'] },
    }))
  test('or, where the folder of all is not there, each driver gets the reason', async () =>
    expect(await folders({}, ['a', 'b'], '/none')).toEqual({ a: 'ENOENT: /none', b: 'ENOENT: /none' }))
})

test('the start of the machine is told by the kernel, or not at all', async () => {
  const kernel = (boot: string) => ({ proc: { sys: { kernel: { random: { boot_id: boot } } } } })
  expect(await machineStart(recordedHostIo(kernel(' 0f5e-1\n')))).toBe('0f5e-1')
  expect(await machineStart(recordedHostIo({}))).toBe('')
})

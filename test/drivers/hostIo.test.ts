/** The port is kept by the real host and by a recorded one alike. */
import {
  existsSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import type { HostIo } from '../../src/drivers/driver.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { recordedHostIo } from './recordedHostIo.ts'

const folder = mkdtempSync(join(tmpdir(), 'host-io-'))
afterAll(() => rmSync(folder, { recursive: true }))

const real = (limits: { readMaxBytes?: number; outputMaxBytes?: number } = {}): HostIo & { readonly root: string } => {
  const root = mkdtempSync(join(folder, 'real-'))
  mkdirSync(join(root, 'dir/sub'), { recursive: true })
  writeFileSync(join(root, 'dir/b'), 'two\n')
  writeFileSync(join(root, 'dir/a'), 'one\n')
  symlinkSync('../dir/sub', join(root, 'dir/link'))
  symlinkSync('gone', join(root, 'dir/loose'))
  writeFileSync(join(root, 'dir/sub/file'), 'three\n')
  return { root, ...realHostIo({ hostname: 'here', stateDir: join(root, 'state'), warn: () => {}, ...limits }) }
}
/** A child that was killed is a zombie until its parent looks. */
const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
const recorded = (): HostIo & { readonly root: string } => ({
  root: '',
  ...recordedHostIo(
    {
      dir: { b: 'two\n', a: 'one\n', link: { '->': '../dir/sub' }, loose: { '->': 'gone' }, sub: { file: 'three\n' } },
    },
    'here',
  ),
})

describe.each([
  ['the real host', real],
  ['a recorded host', recorded],
])('%s keeps the port', (_name, make) => {
  test('reads a file, also through a link', async () => {
    const { root, read } = make()
    expect(await read(`${root}/dir/a`)).toBe('one\n')
    expect(await read(`${root}/dir/link/file`)).toBe('three\n')
    expect(await read(`${root}/dir/link/../b`)).toBe('two\n')
  })

  test('says ENOENT of what is not there', async () => {
    const { root, read, list, write } = make()
    await expect(read(`${root}/dir/none`)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(read(`${root}/dir/loose`)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(list(`${root}/none`)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(write(`${root}/dir/none`, 'x')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(read(`${root}/dir`)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  test('lists a folder sorted, also through a link', async () => {
    const { root, list } = make()
    expect(await list(`${root}/dir`)).toEqual(['a', 'b', 'link', 'loose', 'sub'])
    expect(await list(`${root}/dir/link`)).toEqual(['file'])
  })

  test('names the target of a link, and null where there is none', async () => {
    const { root, link } = make()
    expect(await link(`${root}/dir/link`)).toBe('../dir/sub')
    expect(await link(`${root}/dir/loose`)).toBe('gone')
    expect(await link(`${root}/dir/a`)).toBeNull()
    expect(await link(`${root}/dir/none`)).toBeNull()
    expect(await link(`${root}/dir/sub`)).toBeNull()
  })

  test('writes what exists, and makes what is its own', async () => {
    const { root, read, list, write, stateDir } = make()
    await write(`${root}/dir/a`, 'new')
    expect(await read(`${root}/dir/a`)).toBe('new')
    await write(`${stateDir}/deep/file`, 'first')
    await Promise.all([1, 2, 3, 4].map((n) => write(`${stateDir}/deep/file`, `text ${n}`)))
    expect(await read(`${stateDir}/deep/file`)).toBe('text 4')
    expect(await list(`${stateDir}/deep`)).toEqual(['file'])
  })

  test('does not take a neighbour of its folder for its own', async () => {
    const { write, stateDir } = make()
    await expect(write(`${stateDir}/../beside`, 'x')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(write(`${stateDir}-2/file`, 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('reads the beginning of a file, whatever its length', async () => {
    const { root, head } = make()
    const text = async (path: string, bytes: number) => Buffer.from(await head(`${root}/${path}`, bytes)).toString()
    expect(await text('dir/a', 2)).toBe('on')
    expect(await text('dir/link/file', 100)).toBe('three\n')
    await expect(head(`${root}/dir/none`, 1)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('says which program is not there', async () => {
    const { run } = make()
    await expect(run('no-such-program', [], 1000)).rejects.toThrow('no-such-program')
  })
})

describe('the limits of the real host', () => {
  test('a program is killed together with its children', async () => {
    const { run, root } = real()
    const file = join(root, 'child')
    await expect(run('sh', ['-c', `sleep 60 & echo $! > ${file}; wait`], 300)).rejects.toThrow(
      'sh: no end within 300 ms',
    )
    const child = Number(readFileSync(file, 'utf8'))
    await expect.poll(() => isAlive(child)).toBe(false)
  })

  test('a failed write leaves the old file and does not stop the next', async () => {
    const { write, stateDir } = real()
    await write(`${stateDir}/file`, 'old')
    mkdirSync(`${stateDir}/taken`)
    await expect(write(`${stateDir}/taken`, 'x')).rejects.toMatchObject({ code: 'EISDIR' })
    await write(`${stateDir}/other`, 'new')
    expect(readFileSync(`${stateDir}/file`, 'utf8')).toBe('old')
    expect(readFileSync(`${stateDir}/other`, 'utf8')).toBe('new')
    expect(existsSync(`${stateDir}/file.tmp`)).toBe(false)
    expect(readdirSync(stateDir)).toContain('other')
  })
})

const run = promisify(execFile)
test('writes to sysfs that block leave room for everything else', async () => {
  const io = real()
  const pipes = [1, 2, 3, 4].map((n) => join(io.root, `pipe-${n}`))
  await run('mkfifo', pipes)
  const writes = pipes.map((path) => io.write(path, 'x'))
  // with all threads of the process in a blocked write, nothing else could be read
  expect(await io.read(`${io.root}/dir/a`)).toBe('one\n')
  await io.write(`${io.stateDir}/own`, 'mine')
  for (const path of pipes) expect((await run('timeout', ['5', 'cat', path])).stdout).toBe('x')
  await Promise.all(writes)
})

test('a program of a vendor gets the environment that it is meant to have', async () => {
  const stateDir = mkdtempSync(join(folder, 'environment-'))
  const io = realHostIo({ hostname: 'here', stateDir, warn: () => {}, environment: { XILINX_XRT: '/opt/xrt' } })
  const said = await io.run('/usr/bin/env', [], 10_000)
  expect(said).toContain('XILINX_XRT=/opt/xrt')
  expect(said).not.toContain('HOME=')
})

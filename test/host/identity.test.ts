/** IDENTITY: the key of a host, and that it signs what it reports. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { fileDisk, memoryDisk } from '../../src/host/disk.ts'
import { SIGNER_HEADER, signerFrom } from '../../src/wire/signature.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { privateKeyOf } from '../support/keys.ts'

const PATH = '/state/key.pem'
let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})

test('IDENTITY-1 the key is made at the first start, on disk before the first report, and stays the same', async () => {
  const host = await lab.boot()
  expect(signerFrom((await lab.disk.read(PATH))!).publicKey).toBe(host.publicKey)
  expect(new Set(lab.heard.map(({ headers }) => headers[SIGNER_HEADER]))).toEqual(new Set([host.publicKey]))
  await lab.kill(host)
  expect((await lab.boot()).publicKey).toBe(host.publicKey)
})
test('IDENTITY-1 a host whose disk refuses the key does not start, and nothing was signed', async () => {
  const disk = {
    ...memoryDisk(),
    replace: async (path: string) => {
      throw new Error(`ENOSPC: ${path}`)
    },
  }
  await expect(lab.boot({ disk })).rejects.toThrow('ENOSPC')
  expect(lab.heard).toEqual([])
})
test.each([
  ['empty', ''],
  ['cut', privateKeyOf('h1').slice(0, 50)],
  ['of another kind', '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n'],
])(
  'IDENTITY-2 a host does not start with a key file that is %s, says what to do, and keeps the file',
  async (_, text) => {
    await lab.disk.replace(PATH, text)
    await expect(lab.boot()).rejects.toThrow(/^\/state\/key\.pem: .*restore the file, or remove it .*host rekey/)
    expect(await lab.disk.read(PATH)).toBe(text)
    expect(lab.heard).toEqual([])
  },
)
test('the key file can be read by its own user only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-key-'))
  try {
    const host = await lab.boot({ disk: fileDisk, stateDir: folder })
    await host.stop('at once')
    expect(statSync(join(folder, 'key.pem')).mode & 0o777).toBe(0o600)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

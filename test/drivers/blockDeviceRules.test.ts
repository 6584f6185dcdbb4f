/** What is concluded from the answers of the kernel about a block device. */
import { expect, test } from 'vitest'
import { type DeviceFiles, blockDevice } from '../../src/drivers/blockDevice.ts'

const failure = (code: string) => Object.assign(new Error(`${code}: open`), { code })
/** `answers`: of each opening, the code of its error; none: it is opened. */
const device = (rdev: bigint, answers: readonly (string | null)[] = [], isBlockDevice = true) => {
  const opened: string[] = []
  const files: DeviceFiles = {
    stat: async () => ({ rdev, isBlockDevice: () => isBlockDevice }),
    openAlone: (path) => {
      const code = answers[opened.length] ?? null
      opened.push(path)
      if (code !== null) throw failure(code)
    },
  }
  return { opened, look: () => blockDevice('/dev/x', files) }
}

test.each<[bigint, string]>([
  [0x0801n, '8:1'],
  [0x10300n, '259:0'],
  [0xfff_ffn, '4095:255'],
  [0x100000n, '0:256'],
  [0xffff_ffff_ffff_ffffn, '4294967295:4294967295'],
  [0x0000_1000_0000_0000n, '4096:0'],
])('the number %s is %s', async (rdev, number) =>
  expect(await device(rdev).look()).toEqual({ number, isClaimed: false }),
)

test('a device is claimed when it is busy four times in a row', async () => {
  const [claimed, free] = [device(0n, Array(9).fill('EBUSY')), device(0n, ['EBUSY', 'EBUSY', 'EBUSY'])]
  expect([await claimed.look(), claimed.opened]).toEqual([{ number: '0:0', isClaimed: true }, Array(4).fill('/dev/x')])
  expect([await free.look(), free.opened.length]).toEqual([{ number: '0:0', isClaimed: false }, 4])
})

test('any other answer than that it is busy is an error, and so is what is no block device', async () => {
  await expect(device(0n, ['EBUSY', 'EACCES']).look()).rejects.toThrow('EACCES: open')
  const plain = device(0n, [], false)
  await expect(plain.look()).rejects.toThrow('/dev/x: is no block device')
  expect(plain.opened).toEqual([])
})

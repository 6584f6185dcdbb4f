/** From which databases this release can be upgraded. */
import { expect, test, vi } from 'vitest'
import { migrate, migrationNames } from '../../src/persistence/migrate.ts'

/** A database in which these migrations have been carried out. */
const having = (names: readonly string[]) => {
  const read = async ({ text }: { readonly text: string }) =>
    text.includes('to_regclass') ? [{ there: names.length > 0 }] : names.map((name) => ({ name }))
  return { read, exclusive: true } as unknown as Parameters<typeof migrate>[0]
}
const OF_0_3_0 = migrationNames().indexOf('0015_hosts_out_of_service') + 1

test.each([
  ['new', 0],
  ['of release 0.3.0', OF_0_3_0],
])('a database that is %s is migrated', async (_, count) => {
  const up = vi.fn<() => Promise<void>>(async () => undefined)
  await migrate(having(migrationNames().slice(0, count)), up)
  expect(up).toHaveBeenCalledOnce()
})

test.each([1, 2, OF_0_3_0 - 1])(
  'a database of an earlier release, with %i migrations, is refused as it is',
  async (count) => {
    const up = vi.fn<() => Promise<void>>(async () => undefined)
    await expect(migrate(having(migrationNames().slice(0, count)), up)).rejects.toThrow(
      'this database was last used by a release before 0.3.0: upgrade it to 0.3.0 first',
    )
    expect(up).not.toHaveBeenCalled()
  },
)

/** Lets a recorded host behave like the kernel where mediated devices are made and removed (drivers.md 4.2). */
import type { RecordedHost, Tree } from './recordedHostIo.ts'

const CREATE = /\/mdev_supported_types\/([^/]+)\/create$/
const REMOVE = /\/mdev_supported_types\/([^/]+)\/devices\/([^/]+)\/remove$/
const error = (code: string): Error => Object.assign(new Error(`${code}: write`), { code })

export type MdevKernel = RecordedHost & {
  /** As a restart of the machine leaves it. */
  readonly restart: () => void
  /** What the kernel was told, in order. */
  readonly told: string[]
}

/**
 * `tree`: the very tree that the host reads. A type uses one of `slots` units of its function; all types of a function
 * share them.
 */
export const withMdevKernel = (
  io: RecordedHost,
  tree: (path: string) => Tree,
  functions: readonly string[],
): MdevKernel => {
  const told: string[] = []
  const typesOf = (address: string): Tree => tree(`/sys/bus/pci/devices/${address}/mdev_supported_types`)
  const devicesIn = (type: Tree): Tree => (type['devices'] ??= {}) as Tree
  const available = (type: Tree): number => Number((type['available_instances'] as string).trim())
  /** While a type is in use no other type of the function can be made, as on cards that allow one at a time. */
  const recount = (types: Tree, used: string, by: number): void => {
    const type = types[used] as Tree
    type['available_instances'] = `${available(type) + by}\n`
    const busy = Object.keys(devicesIn(type)).length > 0
    for (const [name, other] of Object.entries(types) as [string, Tree][])
      if (name !== used) {
        other['spare'] ??= other['available_instances']!
        other['available_instances'] = busy ? '0\n' : other['spare']
      }
  }
  return {
    ...io,
    told,
    restart: () => {
      for (const address of functions)
        for (const [name, type] of Object.entries(typesOf(address)) as [string, Tree][]) {
          const devices = Object.keys(devicesIn(type))
          type['devices'] = {}
          recount(typesOf(address), name, devices.length)
        }
    },
    write: async (path, text) => {
      const [create, remove] = [CREATE.exec(path), REMOVE.exec(path)]
      if (!create && !remove) return io.write(path, text)
      await io.read(path)
      told.push(`${create ? 'create' : 'remove'} ${create ? text : remove![2]}`)
      const address = path.split('/').at(create ? -4 : -6)!
      const [types, name] = [typesOf(address), (create ?? remove)![1]!]
      const type = types[name] as Tree
      const all = Object.values(types).flatMap((one) => Object.keys(devicesIn(one as Tree)))
      if (create && all.includes(text)) throw error('EEXIST')
      if (create && available(type) === 0) throw error('ENOSPC')
      if (create) devicesIn(type)[text] = { remove: '' }
      else delete devicesIn(type)[remove![2]!]
      recount(types, name, create ? -1 : 1)
    },
  }
}

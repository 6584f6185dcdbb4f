/**
 * The mediated devices that this driver has made, or was about to make, in a file: which attach handle each of them
 * stands for. They vanish when the host restarts, and are made again from here.
 */
import { Card } from '../../vocabulary/card.ts'
import type { DeepReadonly } from '../../vocabulary/deepReadonly.ts'
import type { HandleUuid } from '../../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { HostIo } from '../driver.ts'
import { oneAtATime, readByRules, readIfThere } from '../files.ts'

/** `leaving`: it is being released, and is not made again. */
const Made = v.object({
  address: v.string(),
  type: v.string(),
  mark: v.string(),
  /** On which card; absent: made by a release before 0.4.0, on whatever card is at the address. */
  card: v.optional(Card),
  leaving: v.optional(v.literal(true)),
})
const File = v.object({
  made: v.record(v.string(), Made),
  names: v.optional(v.record(v.string(), v.string()), () => ({})),
})
export type Made = DeepReadonly<v.InferOutput<typeof Made>>
export type MadeDevices = {
  /** By UUID of the attach handle, which is the UUID of the mediated device as well. */
  readonly made: Readonly<Record<string, Made>>
  /** What types are called, by id: the kernel does not say it any more once the last one of a type is made. */
  readonly names: Readonly<Record<string, string>>
}

export type MadeFile = {
  readonly read: (io: HostIo) => Promise<MadeDevices>
  readonly change: (io: HostIo, made: (before: MadeDevices) => MadeDevices) => Promise<void>
}
export const madeFile = (driver: string): MadeFile => {
  const inTurn = oneAtATime()
  const pathOf = (io: HostIo): string => `${io.stateDir}/${driver}.made.json`
  const read = async (io: HostIo): Promise<MadeDevices> => {
    const text = await readIfThere(io, pathOf(io))
    return text === null ? { made: {}, names: {} } : readByRules(File, text, pathOf(io))
  }
  return {
    read,
    change: (io, made) =>
      inTurn(async () => {
        const before = await read(io)
        const text = JSON.stringify(made(before))
        if (text !== JSON.stringify(before)) await io.keep(pathOf(io), text)
      }),
  }
}

export const withMade = ({ made, names }: MadeDevices, uuid: HandleUuid, one: Made): MadeDevices => ({
  made: { ...made, [uuid]: one },
  names,
})
export const withoutMade = ({ made, names }: MadeDevices, uuid: HandleUuid): MadeDevices => {
  const { [uuid]: _gone, ...rest } = made
  return { made: rest, names }
}

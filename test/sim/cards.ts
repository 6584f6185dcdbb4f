/**
 * What befalls the cards of a machine besides what orders do: restarts, other tools, a program that is killed while it
 * writes, a driver that does not get through its discovery.
 */
import type { Driver } from '../../src/drivers/driver.ts'
import { type Effects, readEffects } from '../../src/drivers/simulated/effects.ts'
import type { SimulatedDriver } from '../../src/drivers/simulated/simulatedDriver.ts'
import { IMAGES } from './images.ts'
import type { Bite } from './lies.ts'
import type { Random } from './random.ts'

/** How the discovery of the driver goes; null: well. */
export type Blindness = 'fails' | 'hangs' | null
type Loaded = Effects['loaded']
export type Ports = {
  readonly read: () => string | null
  readonly write: (text: string) => void
  readonly random: Random
  readonly bite: Bite | null
  readonly say: (line: string) => void
}
export type Cards = {
  readonly effects: () => Effects
  /** Before the program starts, and after the machine has, when `hasRestarted`. */
  readonly started: (hasRestarted: boolean) => void
  readonly died: () => void
  readonly blind: (how: Blindness) => void
  readonly around: (driver: SimulatedDriver) => SimulatedDriver
}

export const openCards = ({ read, write, random, bite, say }: Ports): Cards => {
  const writing = new Set<string>()
  let remembered: Loaded = {}
  let [blindness, sees]: [Blindness, PromiseWithResolvers<void>] = [null, Promise.withResolvers()]
  const effects = (): Effects => readEffects(read())
  /** What the cards hold now; their functions are those of images that are gone. */
  const hold = (loaded: Loaded): void => write(JSON.stringify({ prepared: effects().prepared, loaded }))
  const without = (loaded: Loaded, names: ReadonlySet<string>): Loaded =>
    Object.fromEntries(Object.entries(loaded).filter(([name]) => !names.has(name)))

  const discover: (driver: Driver) => Driver['discover'] = (driver) => async (io) => {
    if (blindness === 'fails') throw new Error('the cards do not answer')
    if (blindness === 'hangs') await sees.promise
    const devices = await driver.discover(io)
    if (bite !== 'card not read') return devices
    return devices.map((device) => ({
      ...device,
      deployables: device.deployables.map((one) => {
        const bitstreamId = one.bitstreamId ?? remembered[one.name]
        return bitstreamId === undefined ? one : { ...one, bitstreamId }
      }),
    }))
  }
  return {
    effects,
    started: (hasRestarted) => {
      const { loaded } = effects()
      remembered = { ...remembered, ...loaded }
      // a card comes up with the image of its flash memory
      if (hasRestarted) hold({})
      const names = Object.keys(loaded)
      if (hasRestarted || names.length === 0 || !random.chance(0.2)) return
      const [name, image] = [random.pick(names), random.pick(IMAGES)]
      hold({ ...loaded, [name]: image })
      say(`another tool has loaded ${image} into ${name}`)
    },
    died: () => {
      // what hung in the program that has died never goes on
      if (blindness === 'hangs') sees = Promise.withResolvers()
      if (writing.size === 0) return
      hold(without(effects().loaded, writing))
      say(`${[...writing].join(', ')}: half written`)
      writing.clear()
    },
    blind: (how) => {
      if (how !== 'hangs') sees.resolve()
      else if (blindness !== 'hangs') sees = Promise.withResolvers()
      blindness = how
    },
    around: (driver) => ({
      ...driver,
      discover: discover(driver),
      program: async (io, deployable, ...rest) => {
        writing.add(deployable)
        try {
          await driver.program(io, deployable, ...rest)
        } finally {
          writing.delete(deployable)
        }
      },
    }),
  }
}

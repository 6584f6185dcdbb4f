/** The state of simulated hardware, stored so that a test can read it after a kill. Pure except for one file. */
import type { LoadedFacts } from '../../vocabulary/hardware.ts'
import type { DeployableName } from '../../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { HostIo, Slot } from '../driver.ts'
import { readByRules } from '../files.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'

const OBJECT = 'must be an object'
const text = v.string('must be text')
const byId = <Value extends v.GenericSchema>(value: Value) =>
  v.optional(v.record(v.string(), value, OBJECT), () => ({}))
const EffectsFile = v.object({
  /** Units prepared for a guest, by slot UUID. */
  prepared: byId(
    v.object({ deployable: text, info: text }, ({ expected }) => (expected === 'Object' ? OBJECT : 'must be there')),
  ),
  /** Loaded bitstreams, by deployable. */
  loaded: byId(text),
  /** The function of the loaded bitstream, by deployable, if its file names one. */
  functions: v.optional(v.record(v.string(), text, OBJECT)),
  /** What the image store said of the loaded bitstream, by deployable. */
  facts: v.optional(
    v.record(v.string(), v.object({ digest: v.optional(text), functionId: v.optional(text) }, OBJECT), OBJECT),
  ),
})

export type Effects = {
  readonly [Of in keyof v.InferOutput<typeof EffectsFile>]: Readonly<v.InferOutput<typeof EffectsFile>[Of]>
}

export const noEffects: Effects = { prepared: {}, loaded: {} }

/** The file in which a driver keeps the state; `readEffects` parses its text. */
export const effectsPath = (stateDir: string, driver: string): string => `${stateDir}/${driver}.effects.json`

/** Parses the text of the state file. Null (no file) means that the hardware holds nothing. */
export const readEffects = (text: string | null): Effects =>
  text === null ? noEffects : readByRules(EffectsFile, text, 'effects')

export const withPrepared = (effects: Effects, slot: Slot): Effects => ({
  ...effects,
  prepared: { ...effects.prepared, [slot.uuid]: { deployable: slot.deployable, info: canonicalInfo(slot.info) } },
})

export const withReleased = (effects: Effects, slot: Slot): Effects => {
  const { [slot.uuid]: _gone, ...prepared } = effects.prepared
  return { ...effects, prepared }
}

/** `functionId` null: its file does not say what it does. `facts`: what the image store said of it. */
export type Loaded = { readonly bitstream: string; readonly functionId: string | null; readonly facts: LoadedFacts }

/** With this value for the deployable, or with none; absent when no deployable has one. */
const noted = <Name extends string, Value>(
  name: Name,
  { [name]: all = {} }: { readonly [One in Name]?: Readonly<Record<string, Value>> | undefined },
  deployable: DeployableName,
  value: Value | null,
) => {
  const { [deployable]: _before, ...others } = all
  const known = value === null ? others : { ...others, [deployable]: value }
  return Object.keys(known).length > 0 ? { [name]: known } : {}
}

export const withLoaded = (
  effects: Effects,
  deployable: DeployableName,
  { bitstream, functionId, facts }: Loaded,
): Effects => {
  const { functions: _functions, facts: _facts, ...rest } = effects
  return {
    ...rest,
    loaded: { ...effects.loaded, [deployable]: bitstream },
    ...noted('functions', effects, deployable, functionId),
    ...noted('facts', effects, deployable, Object.keys(facts).length > 0 ? facts : null),
  }
}

/** Replaces the file if the state changed. */
export const keepEffects = async (io: HostIo, driver: string, before: Effects, after: Effects): Promise<void> => {
  const text = JSON.stringify(after)
  if (text !== JSON.stringify(before)) await io.write(effectsPath(io.stateDir, driver), text)
}

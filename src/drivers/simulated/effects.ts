/** What pretended hardware holds, so that a test can see it after a kill. Pure but for the one file. */
import type { HostIo, Slot } from '../driver.ts'
import { jsonObject } from '../files.ts'
import { canonicalInfo } from '../../pci.ts'

export type Effects = {
  /** By slot UUID: what is prepared for a guest. */
  readonly prepared: Readonly<Record<string, { readonly deployable: string; readonly info: string }>>
  /** By deployable: the bitstream it holds. */
  readonly loaded: Readonly<Record<string, string>>
}

export const noEffects: Effects = { prepared: {}, loaded: {} }

/** The file a driver keeps its effects in; the text is read with `readEffects`. */
export const effectsPath = (stateDir: string, driver: string): string => `${stateDir}/${driver}.effects.json`

/** Reads the text of an effects file; null, no file, is hardware that holds nothing. */
export const readEffects = (text: string | null): Effects =>
  text === null ? noEffects : { ...noEffects, ...(jsonObject(text, 'effects') as Partial<Effects>) }

export const withPrepared = (effects: Effects, slot: Slot): Effects => ({
  ...effects,
  prepared: { ...effects.prepared, [slot.uuid]: { deployable: slot.deployable, info: canonicalInfo(slot.info) } },
})

export const withReleased = (effects: Effects, slot: Slot): Effects => {
  const { [slot.uuid]: _gone, ...prepared } = effects.prepared
  return { ...effects, prepared }
}

export const withLoaded = (effects: Effects, deployable: string, bitstream: string): Effects => ({
  ...effects,
  loaded: { ...effects.loaded, [deployable]: bitstream },
})

/** Replaces the file when the effects changed. */
export const keepEffects = async (io: HostIo, driver: string, before: Effects, after: Effects): Promise<void> => {
  const text = JSON.stringify(after)
  if (text !== JSON.stringify(before)) await io.write(effectsPath(io.stateDir, driver), text)
}

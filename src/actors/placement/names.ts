/** Names of traits and resource classes as Placement takes them (placement 2). */
import type { Group } from '../arq/messages.ts'

/** The trait that every provider of this service has (placement 6.1). */
export const OWNER_TRAIT = 'OWNER_CYBORG'
/**
 * A provider with one of these traits belongs to Nova: this service never writes it, whatever its UUID and name
 * (placement 6.1).
 */
export const FOREIGN_TRAITS: readonly string[] = ['OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE']
/**
 * A trait of this form names the function that a card is loaded with. It is true only if the host reads it from the
 * card, whoever has set it (P13).
 */
export const isFunctionTrait = (trait: string): boolean => trait.startsWith('CUSTOM_FPGA_FUNCTION_ID_')
const NAME_MAX = 255

/** Upper case; every other character than A-Z, 0-9 and _ becomes _. */
export const placementName = (name: string): string =>
  name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '_')
    .slice(0, NAME_MAX)

const CUSTOM = /^(resources|trait):(CUSTOM_[A-Z0-9_]{1,248})$/
/** Names in groups of device profiles that exist in Placement only if somebody has created them. */
export const customNamesIn = (
  groups: readonly Group[],
): { readonly classes: readonly string[]; readonly traits: readonly string[] } => {
  const found = groups.flatMap((group) => Object.keys(group)).flatMap((key) => [CUSTOM.exec(key) ?? []])
  const of = (kind: string) =>
    [...new Set(found.flatMap(([, is, name]) => (is === kind && name ? [name] : [])))].toSorted()
  return { classes: of('resources'), traits: of('trait') }
}

/** Names of traits and resource classes as Placement takes them (placement 2). */

/** Every provider of this service carries it (placement 6.1). */
export const OWNER_TRAIT = 'OWNER_CYBORG'
/** Whoever is marked so belongs to Nova: it is never written, whatever its UUID and name (placement 6.1). */
export const FOREIGN_TRAITS: readonly string[] = ['OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE']
const NAME_MAX = 255

/** Upper case; every other character than A-Z, 0-9 and _ becomes _. */
export const placementName = (name: string): string =>
  name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '_')
    .slice(0, NAME_MAX)

/**
 * JSON text of a flat object in the format of the API: `", "` between members, `": "` after a key, keys in the given
 * order.
 */
export const spacedJson = (members: Readonly<Record<string, string | null>>): string =>
  `{${Object.entries(members)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(', ')}}`

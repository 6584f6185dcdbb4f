/** JSON text of a flat object as the API has always shown it: `", "` between members, `": "` after a key, keys in the order given. */
export const spacedJson = (members: Readonly<Record<string, string | null>>): string =>
  `{${Object.entries(members)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(', ')}}`

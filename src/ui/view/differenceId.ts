/**
 * A difference in addresses of pages: `<UUID>.<host>`, because no list of the API finds a difference by its UUID alone.
 */
export const differenceId = (uuid: string, host: string): string => `${uuid}.${host}`

export const differenceIn = (id: string): { readonly uuid: string; readonly host: string } => {
  const [, uuid = '', host = ''] = /^([^.]*)\.(.*)$/s.exec(id) ?? []
  return { uuid, host }
}

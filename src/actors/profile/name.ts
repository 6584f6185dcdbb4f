/** The rule for names of device profiles. Pure. */

export const PROFILE_NAME = /^[A-Za-z0-9_-]+$/
export const PROFILE_NAME_MAX = 255

/** True for every valid name. No profile gets another name, but an import may bring one that has. */
export const isProfileName = (name: string): boolean => name.length <= PROFILE_NAME_MAX && PROFILE_NAME.test(name)

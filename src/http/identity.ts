/**
 * The identity of the caller. Without an identity service the headers are trusted, so in that mode the service listens
 * on loopback only. With an identity service, see `tokenIdentity.ts`.
 */
import type { ProjectId } from '../vocabulary/identifiers.ts'
import type { Caller } from '../actors/control.ts'
import type { Token } from '../vocabulary/token.ts'
import { traceField } from '../vocabulary/trace.ts'
import { brokenText, NAME_LIMIT } from '../vocabulary/text.ts'
import { invalid } from './faults.ts'
import type { HttpRefused } from './faults.ts'

export type Identity = {
  readonly userId: string
  readonly names?: Token['names']
  /** Null: the token has no project (unscoped, or scoped to a domain or to the system). */
  readonly projectId: ProjectId | null
  /** Names of roles, in lower case. */
  readonly roles: readonly string[]
  readonly serviceRoles: readonly string[]
  readonly fields?: Token['fields']
}
export type Header = (name: string) => string | undefined
/** The method and path of the request. The path is the canonical one, by which the route was found. */
export type RequestTarget = {
  readonly method: string
  readonly path: string
  /** The address of the caller (`remote.ts`); absent: not known. */
  readonly from?: string
}
/** Identifies the caller before the version header is read. */
export type Identify = (
  header: Header,
  asked: RequestTarget,
) => Identity | HttpRefused | Promise<Identity | HttpRefused>

/** The identity of a request without any identity header. */
export const NOAUTH_PROJECT = '5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c10'
const NOAUTH_USER = '0d9b1f0e-7d57-4a8e-8f6d-3c5f0c8b9a11'
/** Roles as an identity service issues them: admin implies the others. */
const NOAUTH_ROLES = ['admin', 'manager', 'member', 'reader'] as const
const IDENTITY_HEADERS = ['x-roles', 'x-user-id', 'x-project-id', 'x-domain-id', 'openstack-system-scope'] as const
/** All headers from which it follows who the caller is, with an identity service and without. */
export const CALLER_HEADERS = ['x-auth-token', 'x-service-token', 'x-service-roles', ...IDENTITY_HEADERS] as const

/**
 * Headers whose values are recorded, indexed or compared by rules, and so must be valid text; of the others, only the
 * presence counts.
 */
const NAMES = ['x-roles', 'x-service-roles', 'x-user-id', 'x-project-id'] as const
/** More than the longest list of roles in an answer of an identity service. */
const ROLES_LIMIT = { bytes: 8192 } as const

/** The first header that breaks the rule for text from outside. */
const problemIn = (header: Header): HttpRefused | null => {
  for (const name of NAMES) {
    const given = header(name)
    if (given === undefined) continue
    const broken = brokenText(given.trim(), name.endsWith('roles') ? ROLES_LIMIT : NAME_LIMIT)
    if (broken !== null) return invalid(name, broken.problem)
  }
  return null
}

const list = (text: string | undefined): readonly string[] =>
  text === undefined
    ? []
    : text
        .split(',')
        .map((role) => role.trim().toLowerCase())
        .filter((role) => role !== '')

export const noauth: Identify = (header) => {
  const problem = problemIn(header)
  if (problem !== null) return problem
  const serviceRoles = list(header('x-service-roles'))
  if (IDENTITY_HEADERS.every((name) => header(name) === undefined))
    return { userId: NOAUTH_USER, projectId: NOAUTH_PROJECT, roles: NOAUTH_ROLES, serviceRoles }
  const project = header('x-project-id')?.trim() ?? ''
  // A token has one scope, so a token for the system or a domain has no project.
  const elsewhere =
    (header('openstack-system-scope') ?? '') !== '' || (project === '' && header('x-domain-id') !== undefined)
  return {
    userId: header('x-user-id')?.trim() ?? '',
    projectId: elsewhere || project === '' ? null : project,
    roles: list(header('x-roles')),
    serviceRoles,
  }
}

export const callerOf = (
  identity: Identity,
  projectId: ProjectId,
  requestId: string,
  serviceRoles: readonly string[],
  trace?: string,
): Caller => ({
  userId: identity.userId,
  projectId,
  isAdmin: identity.roles.includes('admin'),
  isService: identity.serviceRoles.some((role) => serviceRoles.includes(role)),
  requestId,
  ...(identity.names ? { names: identity.names } : {}),
  ...traceField(trace),
})

/**
 * The identity of the caller. Without an identity service the headers are trusted, which is why that mode listens on
 * loopback only.
 */
import type { ProjectId } from '../identifiers.ts'
import type { Caller } from '../actors/control.ts'
import { traceField } from '../trace.ts'
import type { HttpRefused } from './faults.ts'

export type Identity = {
  readonly userId: string
  /** Null: the token has no project (unscoped, or scoped to a domain or to the system). */
  readonly projectId: ProjectId | null
  /** In lower case. */
  readonly roles: readonly string[]
  readonly serviceRoles: readonly string[]
}
export type Header = (name: string) => string | undefined
/** Determined before the version header is read. An implementation may also validate tokens. */
export type Identify = (header: Header) => Identity | HttpRefused | Promise<Identity | HttpRefused>

/** The identity of a request without any identity header. */
export const NOAUTH_PROJECT = '5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c10'
const NOAUTH_USER = '0d9b1f0e-7d57-4a8e-8f6d-3c5f0c8b9a11'
/** Roles as an identity service issues them: admin implies the others. */
const NOAUTH_ROLES = ['admin', 'manager', 'member', 'reader'] as const
const IDENTITY_HEADERS = ['x-roles', 'x-user-id', 'x-project-id', 'x-domain-id', 'openstack-system-scope'] as const

const list = (text: string | undefined): readonly string[] =>
  text === undefined
    ? []
    : text
        .split(',')
        .map((role) => role.trim().toLowerCase())
        .filter((role) => role !== '')

export const noauth: Identify = (header) => {
  const serviceRoles = list(header('x-service-roles'))
  if (IDENTITY_HEADERS.every((name) => header(name) === undefined))
    return { userId: NOAUTH_USER, projectId: NOAUTH_PROJECT, roles: NOAUTH_ROLES, serviceRoles }
  const project = header('x-project-id')?.trim() ?? ''
  // A token has one scope: one for the system or a domain has no project.
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
  ...traceField(trace),
})

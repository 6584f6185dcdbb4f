/** The page of a device profile: its groups, and how they have changed. */
import type { ProfileVersions } from '../shapes.ts'
import { type Fact, command, facts, id, link, none, panel, state, trouble, when } from './parts.ts'
import { rows, under } from './rows.ts'
import type { Screen } from './screen.ts'
import { type Child, type Node, a, code, div, p, span } from './tags.ts'
import { head, lastOf } from './things.ts'
import { shell } from './words.ts'

const comparing = (name: string, version: number | null): string =>
  under(
    `profiles/${encodeURIComponent(name)}/versions`,
    version === null ? {} : { from: String(version - 1), to: String(version) },
  )
const versionPanel = (name: string, versions: ProfileVersions['versions'], now: number): Child =>
  versions.length === 0
    ? null
    : panel(
        'Versions',
        span(
          { class: 'dim' },
          'a request keeps the version that it was made with',
          ...(versions.length > 1 ? [' · ', a({ class: 'underlined', href: comparing(name, null) }, 'compare')] : []),
        ),
        rows(
          'Versions',
          [
            { title: 'Version', cell: ({ version }) => version },
            {
              title: 'State',
              cell: ({ enabled }) => state(enabled ? 'good' : 'held', enabled ? 'enabled' : 'disabled'),
            },
            { title: 'Groups', cell: ({ groups }) => code(null, JSON.stringify(groups)), kind: 'wide' },
            { title: 'Created', cell: ({ created_at: created }) => when(created, now) },
            {
              title: 'Changes',
              cell: ({ version }) =>
                version === versions[0]?.version ? none() : link(comparing(name, version), 'against the one before'),
            },
          ],
          versions.toReversed(),
          ({ version }) => String(version),
        ),
      )

export const profilePage = ({ body: { profile, versions, offers: list }, here, now }: Screen<'profile'>): Node => {
  if (!profile.ok)
    return div(null, head(link('profiles', 'Profile'), lastOf(here), null, here, []), trouble(profile.error))
  const { name, uuid, groups, description, created_at: created, version, enabled, projects } = profile.value
  return div(
    null,
    head(link('profiles', 'Profile'), name, null, here, list),
    description === null ? null : p({ class: 'lead' }, description),
    facts([
      ['UUID', id(uuid)],
      ['Created', when(created, now)],
      ['Version', enabled ? String(version) : 'none is enabled: nobody can use it'],
      ['Who may use it', projects === null ? 'everybody' : projects.join(', ') || 'nobody'],
    ]),
    ...groups.map((group, index) =>
      panel(
        `Group ${index}`,
        span({ class: 'dim' }, 'each group is one accelerator request'),
        facts(Object.entries(group).map(([key, value]): Fact => [key, code(null, value)])),
      ),
    ),
    p({ class: 'leads' }, a({ class: 'button', href: under('explain', { profile: name }) }, 'Explain which hosts fit')),
    versionPanel(name, versions, now),
    command(shell`openstack accelerator device profile show ${uuid}`),
  )
}

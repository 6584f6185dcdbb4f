/** Cases of S3 for handles: each event of a row moves a handle as its state table says. */
import { type Case, type Fact, board, deployable, described, granted, here, of, order, released } from './scene.ts'

const withdrawn: Fact = { type: 'HandleQuarantined', handle: 'h1', until: 'released', by: 'op', reason: 'r' }
const cleared: Fact = { type: 'HandleCleared', handle: 'h1', by: 'op', reason: 'r' }
const again: Fact = { ...granted(), repeated: 'its host has lost it' }
export const moveCases: readonly Case[] = [
  [
    'S3',
    'a handle goes from held to quarantined',
    of(
      board,
      deployable('d1', granted()),
      deployable('d1', { type: 'HandleQuarantined', handle: 'h1', until: 'released', by: 'op', reason: 'r' }),
      deployable('d1', released()),
    ),
    [here(4, ['deployable/d1'], 'handle h1 went from held to quarantined')],
  ],
  [
    'S3',
    'a handle that is in doubt is given up',
    of(
      board,
      deployable('d1', granted()),
      deployable('d1', {
        type: 'HandleQuarantined',
        handle: 'h1',
        until: 'released',
        inDoubt: true,
        by: 'op',
        reason: 'r',
      }),
      deployable('d1', released()),
    ),
    [],
  ],
  [
    'S3',
    'a handle is given up whose hardware its host has prepared for something else',
    of(
      board,
      deployable('d1', granted()),
      deployable('d1', {
        type: 'HandleQuarantined',
        handle: 'h1',
        until: 'released',
        by: 'comparison with the host',
        reason: 'r',
      }),
      deployable('d1', released()),
    ),
    [],
  ],
  [
    'S3',
    'a handle is given up that the report does not show any more',
    of(
      board,
      deployable('d1', granted()),
      deployable('d1', { type: 'DeployableDescribed', description: described(['h2']) }),
      deployable('d1', released()),
    ),
    [],
  ],
  [
    'S3',
    'the second event of a row moves a handle on',
    of(board, deployable('d1', granted(), released('h1', 'a1', order('h1', 1)))),
    [],
  ],
  [
    'S3',
    'the first event of a row is not in the table, and the second hides it',
    of(board, deployable('d1', granted()), deployable('d1', withdrawn, released(), cleared)),
    [here(3, ['deployable/d1'], 'handle h1 went from held to quarantined')],
  ],
  [
    'S3',
    'a handle is granted while it is being released',
    of(board, deployable('d1', granted()), deployable('d1', released('h1', 'a1', order('h1', 1)), granted('h1', 'a2'))),
    [here(3, ['deployable/d1'], 'handle h1 was granted while it was releasing')],
  ],
  [
    'S3',
    'a handle that a request holds is granted to another',
    of(board, deployable('d1', granted()), deployable('d1', granted('h1', 'a2'))),
    [here(3, ['deployable/d1'], 'handle h1 was granted while it was held')],
  ],
  [
    'S3',
    'a handle is prepared again for its request, and only for one that has it',
    of(
      board,
      deployable('d1', granted()),
      deployable('d1', again),
      deployable('d1', released()),
      deployable('d1', again),
    ),
    [here(5, ['deployable/d1'], 'handle h1 was granted while it was free')],
  ],
]

import { describe, expect, test } from 'vitest'
import { absolutePath, liesIn, rootFolders, rootFor } from './roots'

const installed = ['/srv/holdpoint', '/mnt/lab']

describe('absolutePath', () => {
  test('works off dots and never climbs above the top', () => {
    expect(absolutePath('a/./b//c/../d', '/srv')).toBe('/srv/a/b/d')
    expect(absolutePath('../../../etc/passwd', '/srv')).toBe('/etc/passwd')
    expect(absolutePath('/', '/srv')).toBe('/')
  })
})

describe('liesIn', () => {
  test('does not take a longer name for a folder inside', () => {
    expect(liesIn('/srv/holdpoint-2/x', '/srv/holdpoint')).toBe(false)
    expect(liesIn('/srv/holdpoint', '/srv/holdpoint')).toBe(true)
    expect(liesIn('/srv/holdpoint/x', '/srv/holdpoint')).toBe(true)
  })
})

describe('rootFolders', () => {
  test('starts a relative root in the first folder of the installation', () => {
    const { folders, refused } = rootFolders([{ path: 'configs', access: 'write' }], installed)
    expect(folders).toEqual([
      { name: 'configs', path: '/srv/holdpoint/configs', access: 'write', within: '/srv/holdpoint' },
    ])
    expect(refused).toEqual([])
  })

  test('refuses a root that leaves the installation, however it is written', () => {
    for (const path of ['..', '../other', '/etc', '/srv/holdpoint-2', 'a/../../b']) {
      const { folders, refused } = rootFolders([{ path, access: 'read' }], installed)
      expect(folders).toEqual([])
      expect(refused[0]?.code).toBe('path_outside_roots')
      expect(refused[0]?.sentence).toContain('outside this installation')
    }
  })
})

describe('rootFor', () => {
  const { folders } = rootFolders(
    [
      { path: 'configs', access: 'read' },
      { path: 'configs/routers', access: 'write' },
    ],
    installed,
  )

  test('names the innermost folder that allows it', () => {
    const answer = rootFor('/srv/holdpoint/configs/routers/r1', 'write', folders)
    expect(answer).toMatchObject({ allowed: true, rule: 'folder configs/routers (write)' })
  })

  test('says that a folder is for reading only', () => {
    const answer = rootFor('/srv/holdpoint/configs/x', 'write', folders, 'configs/x')
    expect(answer).toMatchObject({
      allowed: false,
      code: 'path_outside_roots',
      rule: 'folder configs (read)',
    })
    expect(answer.allowed === false && answer.sentence).toContain('for reading only')
  })

  test('refuses everything when nothing is declared', () => {
    const answer = rootFor('/srv/holdpoint/x', 'read', [], 'x')
    expect(answer).toMatchObject({ allowed: false, rule: 'no folder is declared' })
  })
})

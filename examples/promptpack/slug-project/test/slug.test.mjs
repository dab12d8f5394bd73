import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slug } from '../src/slug.mjs'

test('writes letters small', () => {
  assert.equal(slug('Rollback'), 'rollback')
})

test('joins two words with a hyphen', () => {
  assert.equal(slug('draining routers'), 'draining-routers')
})

test('joins any number of words, however far apart', () => {
  assert.equal(slug('a  link   goes down'), 'a-link-goes-down')
})

test('leaves punctuation out', () => {
  assert.equal(slug("What's new? (March)"), 'whats-new-march')
})

test('writes accented letters plain', () => {
  assert.equal(slug('Château Élysée'), 'chateau-elysee')
})

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The file outside of this folder that a link means, or null if it means something else. */
function target(href, page) {
  if (!href.startsWith('../')) return null
  const file = resolve(dirname(page), href.split('#')[0])
  return relative(root, file).startsWith('..') ? file : null
}

/**
 * Links to files of the repository outside of this folder work where the pages are read next to the code. The site has no
 * code: there, only the text of such a link is left. One that leads to no file fails the build.
 */
export function sourceLinks(md) {
  md.core.ruler.push('source_links', ({ tokens, env }) => {
    for (const { children } of tokens.filter(({ type }) => type === 'inline')) {
      let inside = false
      for (const token of children) {
        if (token.type === 'link_open') {
          const file = target(token.attrGet('href'), env.path)
          if (file && !existsSync(file)) throw new Error(`${env.path} links to ${file}, which does not exist`)
          inside = Boolean(file)
        }
        if (inside && token.type.startsWith('link_')) {
          inside = token.type !== 'link_close'
          token.type = 'text'
          token.tag = ''
          token.nesting = 0
          token.content = ''
        }
      }
    }
  })
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
const longest = 44

/** Gives code of a few words a class of its own: an option or a name is not broken at its hyphens. */
export function shortCode(md) {
  md.core.ruler.push('short_code', ({ tokens }) => {
    tokens
      .flatMap(({ children }) => children ?? [])
      .filter(({ type, content }) => type === 'code_inline' && content.length <= longest)
      .forEach((token) => token.attrJoin('class', 'short'))
  })
}

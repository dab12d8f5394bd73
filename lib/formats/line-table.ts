export interface LineTable {
  /** Line and column of an offset, both from 1; columns count UTF-16 units. */
  at(offset: number): { line: number; column: number }
}

/** Finds lines in a text. Lines end with LF, CR LF or CR; the table is made when it is first asked. */
export function lineTable(text: string): LineTable {
  let starts: number[] | undefined
  return {
    at(offset) {
      starts ??= lineStarts(text)
      let low = 0
      let high = starts.length - 1
      while (low < high) {
        const middle = (low + high + 1) >>> 1
        if ((starts[middle] as number) <= offset) low = middle
        else high = middle - 1
      }
      return { line: low + 1, column: offset - (starts[low] as number) + 1 }
    },
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (const end of text.matchAll(/\r\n|\n|\r/g)) starts.push(end.index + end[0].length)
  return starts
}

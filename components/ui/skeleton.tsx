/** Where something is about to be: lines of the right height and no shimmer. Read as "Loading …" once. */
export function Skeleton({ lines = 3, what, row = 32 }: { lines?: number; what: string; row?: number }) {
  return (
    <div role="status" aria-label={`Loading ${what}`} className="motion-fade">
      {Array.from({ length: lines }, (_, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike and never move.
          key={index}
          className="flex items-center border-b px-4"
          style={{ height: row }}
        >
          <span
            className="block h-2 rounded-r1 bg-selected"
            style={{ width: `${[44, 62, 36, 54][index % 4]}%` }}
          />
        </div>
      ))}
    </div>
  )
}

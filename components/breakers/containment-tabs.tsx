import Link from 'next/link'
import { cx } from '@/components/ui/cx'
import { links } from '@/lib/ui/links'

const places = [
  { at: 'breakers', word: 'Breakers', href: links.breakers() },
  { at: 'bulkheads', word: 'Bulkheads', href: links.bulkheads },
] as const

/** The two pages of containment, in the head of each: stands where a page's name stands (`PageHead tabs={…}`). */
export function ContainmentTabs({ at }: { at: (typeof places)[number]['at'] }) {
  return (
    <nav aria-label="Containment" className="flex h-11 gap-4 max-md:h-12">
      {places.map(({ at: place, word, href }) => (
        <Link
          key={place}
          href={href}
          aria-current={place === at ? 'page' : undefined}
          className={cx(
            'ring-inside -mb-px flex items-center border-b-2',
            place === at ? 'border-ink font-medium text-ink' : 'border-transparent text-ink-3 hover:text-ink',
          )}
        >
          {word}
        </Link>
      ))}
    </nav>
  )
}

'use client'
import { useRouter } from 'next/navigation'
import { signOut } from 'next-auth/react'
import { useTransition } from 'react'
import { EntryFrame } from '@/components/sign-in/entry-frame'
import { Button } from '@/components/ui/button'
import { links } from '@/lib/ui/links'

/**
 * The whole console of somebody who is signed in and holds no role. Who the administrators are is told to whoever may see
 * people, so it is not told here.
 */
export function NoRole({ name }: { name: string }) {
  const router = useRouter()
  const [looking, look] = useTransition()
  return (
    <EntryFrame title="You have no role yet">
      <p className="text-pretty text-ink-2">
        You are signed in as <b className="font-medium text-ink">{name}</b>. What you see and may do here
        follows from your roles, and you hold none. An administrator of this installation can give you one.
      </p>
      <div className="mt-6 flex gap-2 max-md:flex-col">
        <Button variant="primary" busy={looking} onClick={() => look(() => router.refresh())}>
          Look again
        </Button>
        <Button onClick={() => void signOut({ callbackUrl: links.signIn() })}>Sign out</Button>
      </div>
    </EntryFrame>
  )
}

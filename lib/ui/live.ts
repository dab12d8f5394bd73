'use client'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import { EventStream, type StreamState } from './event-stream'
import { keys } from './keys'
import { Invalidation } from './live-invalidation'

export interface Live extends StreamState {
  /** Tries to connect at once. */
  tryNow: () => void
}

const resting: Live = { status: 'connecting', tryNow: () => {} }

/** The connection of this page, set by `useLiveStream` in the shell. */
export const LiveContext = createContext<Live>(resting)

/** How the page is connected, and when it last heard from the server. */
export function useLive(): Live {
  return useContext(LiveContext)
}

/** Opens the page's one stream and keeps the lists fresh by it. Called once, by the shell. */
export function useLiveStream(): Live {
  const client = useQueryClient()
  const [stream, setStream] = useState<EventStream>()
  useEffect(() => {
    const invalidation = new Invalidation(client)
    const opened = new EventStream({
      url: '/api/v1/stream',
      onEvent: (event) => invalidation.add(event),
      onOpen: () => invalidation.addAll(),
      onCircuits: () => invalidation.addKey(keys.circuits),
      // What breakers count slides on with time, whether or not anything happens.
      onBeat: () => invalidation.addKey(keys.circuitList),
    })
    opened.open()
    setStream(opened)
    return () => opened.close()
  }, [client])
  const state = useSyncExternalStore(
    stream?.subscribe ?? nothing,
    () => stream?.state ?? resting,
    () => resting,
  )
  return { ...state, tryNow: stream?.open ?? resting.tryNow }
}

const nothing = () => () => {}

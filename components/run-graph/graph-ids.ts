import { createContext } from 'react'

/** What the ids of a picture's steps begin with: two pictures on one page have different ones. */
export const IdPrefix = createContext('step-')

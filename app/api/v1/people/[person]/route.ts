export { patchPerson as PATCH } from '@/lib/server/handlers/people'

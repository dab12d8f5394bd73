export { endSession as DELETE } from '@/lib/server/handlers/account'

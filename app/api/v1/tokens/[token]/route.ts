export { deleteToken as DELETE } from '@/lib/server/handlers/tokens'

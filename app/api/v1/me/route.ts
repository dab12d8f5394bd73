export { getMe as GET } from '@/lib/server/handlers/account'

export { getKeys as GET } from '@/lib/server/handlers/house'

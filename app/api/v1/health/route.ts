export { getHealth as GET } from '@/lib/server/handlers/house'

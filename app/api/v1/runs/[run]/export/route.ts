export { getExport as GET } from '@/lib/server/handlers/house'

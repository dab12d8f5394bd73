export { listPeople as GET, postPerson as POST } from '@/lib/server/handlers/people'

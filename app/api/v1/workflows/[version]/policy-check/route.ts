export { postPolicyCheck as POST } from '@/lib/server/handlers/policy'

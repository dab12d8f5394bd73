import { NoSuchPage } from '@/components/shell/no-such'

export default function NotFound() {
  return <NoSuchPage />
}

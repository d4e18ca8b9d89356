# A job of 3 s for Sidekiq.
require 'sidekiq'

class Slow
  include Sidekiq::Worker

  def perform
    File.write("#{ENV.fetch('SCRATCH')}/begun-job", 'begun')
    sleep 3
    File.write("#{ENV.fetch('SCRATCH')}/done-job", 'done')
  end
end
